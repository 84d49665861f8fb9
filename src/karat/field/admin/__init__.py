"""What researchers see: login, the live page of each study, people, downloads."""
