//! Hex maps: coordinates, neighbours and paths
