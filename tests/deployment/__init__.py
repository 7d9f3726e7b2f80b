"""Installing the platform: container, compose, systemd, Kubernetes and upgrades."""
