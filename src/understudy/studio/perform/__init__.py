"""The perform mode: a learned character on stage, told what to do while it acts."""
