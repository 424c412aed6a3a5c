"""Scenarios: a file says what happens to a pocket cluster and when; here it is played and told.

`values`, `model`, `checks`: what a file may say (pure); `reading`: from the disk. `deeds`, `acts`:
what steps do; `player`: when. `ledger`, `warned`: what became of it; `verdict`, `report`: in words.
"""
