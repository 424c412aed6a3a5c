# syntax=docker/dockerfile:1

# One image for both processes: the first argument says which, `webhook` or `controller`.
#
# Pin both bases by digest where builds must be the same for ever:
#   docker build --build-arg BUILD_IMAGE=docker.io/library/python:3.13-slim-bookworm@sha256:... \
#                --build-arg RUNTIME_IMAGE=... .
# Both must have the same Python, in the same place: the virtual environment links to it.
ARG BUILD_IMAGE=docker.io/library/python:3.13-slim-bookworm
ARG RUNTIME_IMAGE=docker.io/library/python:3.13-slim-bookworm


FROM ${BUILD_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
WORKDIR /src

# Dependencies change seldom: with only these files their layer is built again only if they change.
# Each package is one of the files that `make lock` saw, by its hash; nothing is built from source.
COPY requirements.lock requirements-build.lock ./
RUN python -m venv /opt/evencore \
 && /opt/evencore/bin/pip install --require-hashes --only-binary :all: --requirement requirements.lock \
 && python -m pip install --require-hashes --only-binary :all: --requirement requirements-build.lock

COPY README.md pyproject.toml ./
COPY certs ./certs
COPY controller ./controller
COPY evencore ./evencore
COPY simulator ./simulator
COPY webhook ./webhook
# pip is a build tool: it does not go along. Byte code does, for the file system is read-only later.
RUN python -m hatchling build --target wheel --directory /tmp/wheel \
 && /opt/evencore/bin/pip install --no-deps /tmp/wheel/*.whl \
 && /opt/evencore/bin/pip uninstall --yes pip \
 && python -m compileall -q /opt/evencore


FROM ${RUNTIME_IMAGE}
LABEL org.opencontainers.image.title="evencore" \
      org.opencontainers.image.description="Kubernetes pods that pin CPUs get pinned"
COPY --from=build /opt/evencore /opt/evencore
# The base's own pip is no tool of ours, and what is not there has no holes.
RUN rm -rf /usr/local/lib/python3*/ensurepip /usr/local/lib/python3*/site-packages/* /usr/local/bin/pip*
ENV PATH=/opt/evencore/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /
# A number, so that kubelets can see that it is not root.
USER 65532:65532
EXPOSE 8443 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["evencore"]
CMD ["--help"]
