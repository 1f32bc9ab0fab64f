def main(arguments, cache): raise SystemExit("later")
