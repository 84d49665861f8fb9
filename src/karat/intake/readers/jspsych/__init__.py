"""jsPsych: what its plugins write, and which of it is a judgment."""
