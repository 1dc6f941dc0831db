"""Private triangle counting, side by side: our mechanisms and those of other papers, as `scripts/evaluate beside`.

compared_graphs   which graphs, and one's own
papers            which mechanisms, what they ask, figures that were published, what was not read whole
oriented, pairs   EdgeOrient, from its description
measuring         simulated releases, run by run
losses_found      what one connection really loses, by brute force
beside_text, beside_picture, making   the table, the picture, and all of it together
"""
