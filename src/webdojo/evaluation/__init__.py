"""What episodes tell of a policy: success with its intervals, the difference of two policies, and judges that agree."""
