"""Goal mode: a turn goes on until a judge says that its goal is reached, or it leads nowhere."""
