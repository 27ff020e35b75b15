"""The flavor m1.fake and the image fake, which tests boot from: bootable.py AUTH_URL ADMIN_PASSWORD (idempotent)"""
import sys

from keystoneauth1 import session
from keystoneauth1.identity import v3

auth_url, admin_password = sys.argv[1:3]
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
