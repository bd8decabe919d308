"""`auditkit open`: the audit as a page in the browser, which this machine serves to itself only.

server   picks a port and a token, makes the private folder, runs until Ctrl-C, leaves nothing behind
access   checks requests (loopback host, own origin, token) and sets the headers of every response
routes   the addresses; each shows a template or changes one open audit
open_audits  the user's choices so far, file by file
worker   a child process that reads and solves, and can be killed at any time
tasks    a worker's tasks, which use the same functions as the commands; the page decides nothing itself
    explore, explorer  the sliders' questions, and the exact answers
"""
