"""What every room uses: frozen values, settings, whole files, text for terminals, tables, bars, interruptions."""
