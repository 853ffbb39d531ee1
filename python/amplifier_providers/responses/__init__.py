"""The Responses API, as OpenAI and Azure speak it.

`wire_format` writes and reads, `turns` has the history, `chain` continues from stored responses, `background`
waits for slow ones, `provider` calls.
"""
