import { describe, expect, it } from 'vitest';
import { nothingHappened as nothing, readNotification } from './envelope.ts';

const server = '32edb6b7-f24d-42cc-bae0-0ea261282c04';
const port = '443fca17-bb9b-4d54-9681-f3919241dba2';
const other = '00bd20a1-eafe-41ab-a2a5-b2144d1a0f47';
const project = '7c1b2a4f9d3e4c55a0b1c2d3e4f50617';

/** Returns a message in oslo.messaging's wire format. */
function wire(event_type: unknown, payload: unknown, more: object = {}): Buffer {
  const message = { message_id: 'm', event_type, payload, priority: 'INFO', ...more };
  return envelope(JSON.stringify(message));
}

function envelope(message: unknown, version: unknown = '2.0'): Buffer {
  return Buffer.from(JSON.stringify({ 'oslo.version': version, 'oslo.message': message }));
}

function happening(event: string, payload: unknown) {
  const read = readNotification(wire(event, payload));
  return read.kind === 'happening' ? read.happening : read.kind;
}

describe('Neutron notification', () => {
  const attached = { port: { id: port, device_id: server, device_owner: 'compute:nova' } };

  it.each([
    ['a new port at a server', 'port.create.end', attached, [server], []],
    ['an attach', 'port.update.end', attached, [server], [port]],
    ['a detach', 'port.update.end', { port: { id: port, device_id: '' } }, [], [port]],
    ['a deleted port', 'port.delete.end', { ...attached, port_id: port }, [server], [port]],
    ['a deleted port of an older Neutron', 'port.delete.end', { port_id: port }, [], [port]],
  ])(
    'a Neutron notification about %s names servers and ports to read',
    (_name, event, payload, servers, ports) => {
      expect(happening(event, payload)).toEqual({ ...nothing, servers, ports });
    },
  );

  it("a bulk create notification names each port's server", () => {
    const ports = [
      { id: port, device_id: server.toUpperCase() },
      { id: other, device_id: other },
    ];
    expect(happening('port.create.end', { ports })).toEqual({
      ...nothing,
      servers: [server, other],
    });
  });

  it.each([
    ['an unattached new port', 'port.create.end', { port: { id: port, device_id: '' } }],
    ['DHCP', 'port.update.end', { port: { id: port, device_owner: 'network:dhcp' } }],
    ['an update start', 'port.update.start', attached],
    ['no ids', 'port.update.end', { port: { name: 'x' } }],
    ['invalid ids', 'port.update.end', { port: { id: 7, device_id: 'dhcp-1' } }],
    ['no payload', 'port.update.end', undefined],
    ['a list as payload', 'port.update.end', [attached]],
    ['a text as port', 'port.update.end', { port: 'x' }],
    ['a number as ports', 'port.create.end', { ports: 3 }],
    ['a floating address', 'floatingip.update.end', { floatingip: { port_id: port } }],
    ['a new network', 'network.create.end', { network: { id: other } }],
    ['a new subnet', 'subnet.create.end', { subnet: { id: other } }],
    ['a vport', 'vport.update.end', attached],
    ['a virtual network', 'virtual_network.update.end', { network: { id: other } }],
    ['an event type with a suffix', 'port.update.end.x', attached],
  ])('a Neutron notification about %s is ignored', (_name, event, payload) => {
    expect(happening(event, payload)).toBe('other');
  });

  it.each(['network.update.end', 'network.delete.end', 'subnet.update.end', 'subnet.delete.end'])(
    'a %s notification without ids requests a full sync',
    (event) => {
      expect(happening(event, {})).toEqual({ ...nothing, whole: true });
    },
  );

  it.each([
    ['network.update.end', { network: { id: other.toUpperCase() } }, [other]],
    ['network.delete.end', { network_id: other }, [other]],
    ['subnet.update.end', { subnet: { id: port, network_id: other } }, [port]],
    ['subnet.delete.end', { subnet: { id: port }, subnet_id: port }, [port]],
  ])('a %s notification names the changed networks and subnets: %j', (event, payload, networks) => {
    expect(happening(event, payload)).toEqual({ ...nothing, networks });
  });
});

describe('Nova notification', () => {
  const versioned = { 'nova_object.data': { uuid: server } };

  it.each([
    ['compute.instance.create.end', { instance_id: server }],
    ['compute.instance.delete.end', { instance_id: server }],
    ['instance.interface_attach.end', versioned],
    ['instance.interface_detach.end', versioned],
    ['instance.delete.end', versioned],
  ])('a %s notification names the server', (event, payload) => {
    expect(happening(event, payload)).toEqual({ ...nothing, servers: [server] });
  });

  it.each([
    ['compute.instance.create.end', { instance_id: server, tenant_id: project }],
    ['instance.create.end', { 'nova_object.data': { uuid: server, tenant_id: project } }],
  ])('a %s notification names the project with the new server', (event, payload) => {
    const happened = { ...nothing, servers: [server], projects: [project] };
    expect(happening(event, payload)).toEqual(happened);
  });

  it('a create notification with an invalid project id names no project', () => {
    const payload = { instance_id: server, tenant_id: 'not an id' };
    const of = (event: string) => happening(event, payload);
    expect(of('compute.instance.create.end')).toEqual({ ...nothing, servers: [server] });
  });

  it('a rebuild notification names no project, because the server existed before', () => {
    const payload = { instance_id: server, tenant_id: project };
    const of = (event: string) => happening(event, payload);
    expect(of('compute.instance.rebuild.end')).toEqual({ ...nothing, servers: [server] });
  });

  it.each([
    ['compute.instance.update', { instance_id: server }],
    ['instance.update', versioned],
    ['compute.instance.create.start', { instance_id: server }],
    ['compute.instance.create.end.x', { instance_id: server }],
    ['compute.instance.create.end', { instance_id: 17 }],
    ['instance.delete.end', { 'nova_object.data': 'x' }],
    ['scheduler.select_destinations.end', { instance_id: server }],
  ])('a %s notification with %j is ignored', (event, payload) => {
    expect(happening(event, payload)).toBe('other');
  });
});

describe('Keystone notification', () => {
  it.each([
    'identity.project.updated',
    'identity.project.deleted',
    'identity.user.updated',
    'identity.user.deleted',
    'identity.domain.updated',
    'identity.domain.deleted',
    'identity.role_assignment.deleted',
    'identity.application_credential.deleted',
  ])(
    'a %s notification concerns the named account, or all accounts without a valid id',
    (event) => {
      const id = '0AF58BDC7E4D41E8AFE84B51BD6DD37A';
      const accounts = [id.toLowerCase()];
      expect(happening(event, { resource_info: id })).toMatchObject({ accounts, whole: false });
      expect(happening(event, { resource_info: '?' })).toMatchObject({ accounts: [], whole: true });
    },
  );

  it('a deleted user role concerns that user; a deleted group role concerns all accounts', () => {
    const event = 'identity.role_assignment.deleted';
    const of = { project: 'p', role: 'r', inherited_to_projects: false };
    const ofUser = { ...of, user: 'u' };
    expect(happening(event, ofUser)).toMatchObject({ accounts: ['u'], whole: false });
    expect(happening(event, { ...of, group: 'g' })).toMatchObject({ accounts: [], whole: true });
    // Both ids count.
    const both = { ...ofUser, resource_info: 'r' };
    expect(happening(event, both)).toMatchObject({ accounts: ['r', 'u'], whole: false });
  });

  it.each(['identity.group.updated', 'identity.group.deleted', 'identity.role.deleted'])(
    'a %s notification concerns all accounts, because the members are unknown',
    (event) => {
      const resource_info = '0af58bdc7e4d41e8afe84b51bd6dd37a';
      expect(happening(event, { resource_info })).toMatchObject({ accounts: [], whole: true });
    },
  );

  it.each([
    'identity.project.created',
    'identity.role.updated',
    'identity.role_assignment.created',
    'identity.authenticate',
  ])('a %s notification is ignored', (event) => {
    expect(happening(event, {})).toBe('other');
  });
});

describe('readNotification', () => {
  it.each([
    ['2026-11-23 01:52:48.746235', '2026-11-23T01:52:48.746Z'],
    ['2026-11-23T01:52:48Z', '2026-11-23T01:52:48.000Z'],
    ['yesterday', undefined],
    [12, undefined],
    [undefined, undefined],
  ])('readNotification parses timestamp %j as %s', (timestamp, time) => {
    const read = readNotification(wire('subnet.update.end', {}, { timestamp }));
    expect(read.kind === 'happening' && read.sentAt?.toISOString()).toBe(time);
  });

  it.each([
    ['an empty body', Buffer.alloc(0)],
    ['no JSON', Buffer.from('{"oslo.version": "2.0"')],
    ['a number', Buffer.from('7')],
    ['null', Buffer.from('null')],
    ['no UTF-8', Buffer.from([0xff, 0xfe, 0])],
    ['no envelope', Buffer.from(JSON.stringify({ event_type: 'port.update.end', payload: {} }))],
    ['another version', envelope('{"event_type": "port.update.end"}', '3.0')],
    ['a numeric version', envelope('{"event_type": "port.update.end"}', 2)],
    ['an object in the envelope', envelope({ event_type: 'port.update.end' })],
    ['no JSON in the envelope', envelope('port.update.end')],
    ['no event_type', envelope('{"payload": {}}')],
    ['a numeric event_type', wire(7, {})],
  ])('readNotification reports %s as unreadable without quoting the message', (_name, body) => {
    const read = readNotification(body);
    expect(read.kind === 'unreadable' && read.why).toMatch(
      /^the (message has no oslo envelope of version 2|oslo envelope has no message)/,
    );
  });

  it('an oversized message requests a full sync', () => {
    expect(readNotification(undefined)).toMatchObject({ happening: { whole: true } });
  });
});
