"""What all providers over HTTP share; a provider adds its own format to it.

A request goes one way:

1. `provider` takes it, and makes a `call` of it.
2. `call` lets the `wire_format` write it (by `history` and `body`), has it admitted and begins its
   events (`call_events`); if an answer is not whole or a request failed, it sends the next one.
3. `retries` decides how often an `exchange` is tried: a place among those that run at once (`load`),
   one request, one answer.
4. `sender` sends it by the `client` and returns an `answer`, which reads what arrives.
5. `block_events` and the `wire_format` give the blocks their form; `response` holds all of them.

The one way back: where no limit is named, `usage` asks the provider for a model's longest answer.
"""
