"""The web application that participants see: pages, the interface of the trials, and what keeps them safe."""
