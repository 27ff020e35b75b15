import type { PostedNode } from '../../../../api/node-configs-http.ts';

/** Returns a node in the legacy operator's form; the legacy Viola reads no other field. */
export function wireNode({ nodeName, instanceId, interfaces = [] }: PostedNode) {
  return {
    nodeName,
    instanceId,
    interfaces: interfaces.map((nic) => {
      const { id, name, portId, macAddress, address, cidr, mtu, networkId, subnetId } = nic;
      const wire = { id, name, portId, macAddress, address, cidr, mtu };
      return { ...wire, deviceId: instanceId, networkId, subnetId };
    }),
  };
}
