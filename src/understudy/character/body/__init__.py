"""The body of a character: bones, limbs, mass, feet, contacts, joint limits and inverse kinematics."""
