"""What limits the calls to an endpoint: places, its rate limits, its circuit breakers."""
