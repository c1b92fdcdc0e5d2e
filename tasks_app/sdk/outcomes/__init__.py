"""How an attempt ends on this machine: errors, failures, symptoms; not what is done next."""
