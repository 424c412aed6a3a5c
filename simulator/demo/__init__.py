"""`make demo`: the same story in two pocket clusters at once, one of them with evencore.

It lives here because it is a scenario with two clusters: the files, steps, counts and expectations
are those of `simulator.scenario`. Of evencore it knows only command lines and what becomes of pods.

`story.yaml`: what happens. `worlds`: one cluster and what is counted in it. `companions`: the real
webhook and controller as processes. `run`: the order of things. `view`: in words (pure); `screen`:
onto a terminal, or line by line.
"""
