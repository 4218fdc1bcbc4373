"""What stands in for what this machine lacks, or has no time for: devices, packages, data, whole loops."""
