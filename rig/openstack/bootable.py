"""What tests boot from: the flavor m1.fake, the image fake, and an availability zone for each nova-compute (idempotent):

bootable.py AUTH_URL ADMIN_PASSWORD HOST..."""
import sys

from keystoneauth1 import session
from keystoneauth1.identity import v3

auth_url, admin_password, *hosts = sys.argv[1:]
admin = session.Session(auth=v3.Password(
    auth_url=auth_url, username='admin', password=admin_password, project_name='admin',
    user_domain_name='Default', project_domain_name='Default'))


def call(service, method, path, **arguments):
    return admin.request(path, method, endpoint_filter={'service_type': service, 'interface': 'public'}, **arguments)


flavors = call('compute', 'GET', '/flavors').json()['flavors']
if not any(flavor['name'] == 'm1.fake' for flavor in flavors):
    # So small that Placement has room for thousands of these servers on one host.
    call('compute', 'POST', '/flavors', json={'flavor': {'name': 'm1.fake', 'ram': 64, 'vcpus': 1, 'disk': 1}})

images = call('image', 'GET', '/v2/images?name=fake').json()['images']
if not images:
    image = call('image', 'POST', '/v2/images', json={
        'name': 'fake', 'disk_format': 'raw', 'container_format': 'bare', 'visibility': 'public'}).json()
    call('image', 'PUT', '/v2/images/%s/file' % image['id'], data=b'0' * 512,
         headers={'Content-Type': 'application/octet-stream'})

# A test that stops one nova-compute has its servers there, where no other test has any.
aggregates = {one['name']: one for one in call('compute', 'GET', '/os-aggregates').json()['aggregates']}
for host in hosts:
    zone = aggregates.get(host) or call('compute', 'POST', '/os-aggregates', json={
        'aggregate': {'name': host, 'availability_zone': host}}).json()['aggregate'] | {'hosts': []}
    if host not in zone['hosts']:
        call('compute', 'POST', '/os-aggregates/%s/action' % zone['id'], json={'add_host': {'host': host}})
