//! Test kit: a world builder, a stepper and a record of what happened
