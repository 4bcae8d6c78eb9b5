"""Sensors of 400 rooms report by retained messages, each confirmed before the next one: PORT COUNT."""
import sys

import paho.mqtt.client

client = paho.mqtt.client.Client("rooms")
client.connect("127.0.0.1", int(sys.argv[1]))
client.loop_start()
for number in range(1, int(sys.argv[2]) + 1):
    client.publish(f"rooms/{number * 7919 % 400}/temperature", f"{number % 30}.5", qos=1, retain=True).wait_for_publish()
    if number % 100 == 0:
        print("done", number, flush=True)
client.loop_stop()
