@echo off
rem Opens the karat studio: double-click this file.
karat %*
if errorlevel 1 pause
