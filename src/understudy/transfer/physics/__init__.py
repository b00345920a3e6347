"""Physics of a transfer: momenta, forces of the floor, collisions, and limbs on springs."""
