"""Service users, their roles and the catalog: accounts.py AUTH_URL ADMIN_PASSWORD SERVICE_PASSWORD TYPE=URL ... (idempotent)"""
import sys

from keystoneauth1 import session
from keystoneauth1.identity import v3
from keystoneclient.v3 import client

NAMES = {'image': 'glance', 'placement': 'placement', 'network': 'neutron', 'compute': 'nova'}

auth_url, admin_password, service_password = sys.argv[1:4]
endpoints = dict(argument.split('=', 1) for argument in sys.argv[4:])
keystone = client.Client(session=session.Session(auth=v3.Password(
    auth_url=auth_url, username='admin', password=admin_password, project_name='admin',
    user_domain_name='Default', project_domain_name='Default')))

roles = {role.name: role for role in keystone.roles.list()}
for name in ('admin', 'member', 'reader', 'service'):
    if name not in roles:
        roles[name] = keystone.roles.create(name)

projects = {project.name: project for project in keystone.projects.list()}
service_project = projects.get('service') or keystone.projects.create('service', 'default')
users = {user.name: user for user in keystone.users.list()}
services = {service.type: service for service in keystone.services.list()}
known = {(endpoint.service_id, endpoint.interface) for endpoint in keystone.endpoints.list()}
for kind, url in endpoints.items():
    name = NAMES[kind]
    user = users.get(name) or keystone.users.create(
        name, default_project=service_project, password=service_password, domain='default')
    for role in ('admin', 'service'):
        keystone.roles.grant(roles[role], user=user, project=service_project)
    service = services.get(kind) or keystone.services.create(name, kind)
    for interface in ('public', 'internal', 'admin'):
        if (service.id, interface) not in known:
            keystone.endpoints.create(service, url, interface, 'RegionOne')
