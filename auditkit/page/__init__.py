"""`auditkit open`: the audit as a page in the browser, served by this machine to this machine only.

server   picks a port and a token, makes the private folder, runs until Ctrl-C, leaves nothing behind
access   who may ask: loopback host, own origin, the token; and the headers of every answer
routes   the addresses; each shows a template or changes one open audit
open_audits  what the user has chosen so far, file by file
worker   a child process that reads, solves and can be killed at any time
tasks    what a worker does, through the functions that the commands use; the page decides nothing itself
    explore, explorer  what the sliders ask, and the exact answers
"""
