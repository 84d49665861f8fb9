"""jsPsych: the answers that its plugins write, and the judgments among them."""
