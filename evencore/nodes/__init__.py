"""What is known of nodes, from whom, and what contradicts it: as values and as text.

Labels are judged by the function that the controller labels with. No I/O; the command is
`evencore.nodes_command`.
"""
