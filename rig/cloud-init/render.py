"""Renders OpenStack's network_data.json as cloud-init does at the first boot of an image: render.py IMAGE ROOT [SYSTEM] <network_data.json

SYSTEM is a file of /etc/cloud/cloud.cfg.d in the image.
"""

import json
import os
import sys

from cloudinit import helpers, stages, util
from cloudinit.distros import rhel, ubuntu
from cloudinit.net import network_state, renderers
from cloudinit.sources.DataSourceConfigDrive import DataSourceConfigDrive

# The renderer that each image uses: cloud-init takes the first one of its list whose tools are installed.
IMAGES = {
    "ubuntu": ("netplan", ubuntu.Distro.renderer_configs),
    "enterprise-linux": ("sysconfig", rhel.Distro.renderer_configs),
    # No ifcfg plugin since 10.
    "enterprise-linux-10": ("network-manager", {}),
    "networkd": ("networkd", {}),
}


def network_config(data, system):
    """The configuration that cloud-init takes from its sources, in its own order."""
    source = DataSourceConfigDrive({}, None, helpers.Paths({}))
    source.network_json = data
    source.known_macs = {link["ethernet_mac_address"]: link["id"] for link in data["links"]}
    init = stages.Init(ds_deps=[])
    init._cfg = {"system_info": {"paths": {}}, **system}
    init.datasource = source
    config, _ = init._find_networking_config()
    return config


image, root, *system_file = sys.argv[1:]
name, configs = IMAGES[image]
system = util.load_yaml(util.load_file(system_file[0])) if system_file else {}
state = network_state.parse_net_config_data(network_config(json.load(sys.stdin), system))
# `postcmds` runs `netplan generate` and udevadm on the machine.
settings = {**configs.get(name, {}), "postcmds": False}
# Joined to ROOT; an absolute path would be one of this machine.
if "netplan_path" in settings:
    settings["netplan_path"] = settings["netplan_path"].lstrip("/")
if name == "sysconfig":
    for folder in ("etc/sysconfig/network-scripts", "etc/udev/rules.d"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
# The user systemd-network is missing on this machine.
util.chownbyname = lambda *_: None
renderer = renderers.NAME_TO_RENDERER[name].Renderer(settings)
renderer.render_network_state(state, target=root)
