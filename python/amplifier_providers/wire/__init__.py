"""What all providers over HTTP share; a provider adds its own wire to it.

`provider` calls, `history` checks what is sent, `client` and `answer` are the HTTP side, `response`
builds what is returned, `errors` names what went wrong.
"""
