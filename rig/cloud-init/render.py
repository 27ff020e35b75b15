"""Renders OpenStack's network_data.json as cloud-init does at the first boot of an image: render.py IMAGE ROOT <network_data.json"""

import json
import os
import sys

from cloudinit.distros import rhel, ubuntu
from cloudinit.net import network_state, renderers
from cloudinit.sources.helpers import openstack

# The renderer that each image uses: cloud-init takes the first one of its list whose tools are installed.
IMAGES = {
    "ubuntu": ("netplan", ubuntu.Distro.renderer_configs),
    "enterprise-linux": ("sysconfig", rhel.Distro.renderer_configs),
    # No ifcfg plugin since 10.
    "enterprise-linux-10": ("network-manager", {}),
}

image, root = sys.argv[1:]
name, configs = IMAGES[image]
data = json.load(sys.stdin)
names = {link["ethernet_mac_address"]: link["id"] for link in data["links"]}
config = openstack.convert_net_json(data, known_macs=names)
state = network_state.parse_net_config_data(config)
# `postcmds` runs `netplan generate` and udevadm on the machine.
settings = {**configs.get(name, {}), "postcmds": False}
# Joined to ROOT; an absolute path would be one of this machine.
if "netplan_path" in settings:
    settings["netplan_path"] = settings["netplan_path"].lstrip("/")
if name == "sysconfig":
    for folder in ("etc/sysconfig/network-scripts", "etc/udev/rules.d"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
renderer = renderers.NAME_TO_RENDERER[name].Renderer(settings)
renderer.render_network_state(state, target=root)
