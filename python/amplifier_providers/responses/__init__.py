"""The Responses API, as OpenAI and Azure speak it.

`request` encodes, `turns` writes the history, `chain` goes on with stored responses, `background`
waits for slow ones, `provider` calls.
"""
