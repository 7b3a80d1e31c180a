"""Online training: the loop, its learner, the policy measured meanwhile, and the engine that sees what was shown."""
