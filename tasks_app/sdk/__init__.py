"""What runs on a worker's machine: handlers, the runtime and the link to the control plane."""
