//! The world: components and one plugin per system of the step
