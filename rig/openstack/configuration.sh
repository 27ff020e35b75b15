# Sourced by up.sh: everything the services are told. /etc is not read.

write_configuration() {
  write_plugins
  keystone_conf >"$STATE/conf/keystone/keystone.conf"
  glance_conf >"$STATE/conf/glance/glance-api.conf"
  cp /usr/share/glance-common/glance-api-paste.ini "$STATE/conf/glance/"
  placement_conf >"$STATE/conf/placement/placement.conf"
  neutron_conf >"$STATE/conf/neutron/neutron.conf"
  ml2_conf >"$STATE/conf/neutron/ml2_conf.ini"
  cp /usr/share/neutron-common/api-paste.ini "$STATE/conf/neutron/"
  # On a busy machine an attachment may take more than a minute; a compute that lost an answer must not wait as long.
  nova_conf 'rpc_response_timeout = 200' >"$STATE/conf/nova/nova.conf"
  local host
  for host in $COMPUTE_HOSTS; do nova_conf "host = $host"$'\n'"rpc_response_timeout = 60" >"$STATE/conf/nova/compute-$host.conf"; done
  cp /usr/share/nova-common/api-paste.ini "$STATE/conf/nova/"
  rabbitmq_conf >"$STATE/conf/rabbitmq/rabbitmq.conf"
  echo '[].' >"$STATE/conf/rabbitmq/enabled_plugins"
  openrc >"$STATE/openrc"
}

# A mechanism driver is found by its entry point only, so the plug-in folder looks like an installed distribution.
write_plugins() {
  cp "$HERE"/plugins/*.py "$STATE/plugins/"
  local info="$STATE/plugins/loopback_ml2-1.0.dist-info"
  mkdir -p "$info"
  printf 'Metadata-Version: 2.1\nName: loopback-ml2\nVersion: 1.0\n' >"$info/METADATA"
  printf '[neutron.ml2.mechanism_drivers]\nloopback = loopback_ml2:LoopbackMechanismDriver\n' >"$info/entry_points.txt"
}

login() { # login USER: how a service logs in at Keystone
  cat <<E
auth_type = password
auth_url = $AUTH_URL
username = $1
password = $SERVICE_PASSWORD
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
E
}
token_check() { # token_check USER: how a service checks the tokens of its callers
  cat <<E
[keystone_authtoken]
www_authenticate_uri = http://$IP:$KEYSTONE_PORT
service_token_roles_required = true
$(login "$1")
E
}
notifications() {
  cat <<E
[oslo_messaging_notifications]
driver = messagingv2
topics = notifications
[oslo_messaging_rabbit]
heartbeat_in_pthread = false
E
}
database() { # database NAME
  cat <<E
connection = $(database_url "$1")
max_pool_size = 20
max_overflow = 40
E
}

keystone_conf() {
  cat <<E
[DEFAULT]
log_file = $STATE/log/keystone.log
transport_url = $TRANSPORT
notification_format = basic
[database]
$(database keystone)
[identity]
# The default of 12 rounds costs half a second of CPU per login on a busy machine; these passwords are no secrets.
password_hash_rounds = 4
[token]
provider = fernet
expiration = $TOKEN_EXPIRATION
[fernet_tokens]
key_repository = $STATE/keystone/fernet-keys
[credential]
key_repository = $STATE/keystone/credential-keys
$(notifications)
E
}

glance_conf() {
  cat <<E
[DEFAULT]
log_file = $STATE/log/glance.log
transport_url = $TRANSPORT
worker_self_reference_url = http://$IP:$GLANCE_PORT
[database]
connection = $(database_url glance)
[glance_store]
stores = file
default_store = file
filesystem_store_datadir = $STATE/glance/images
[paste_deploy]
flavor = keystone
$(token_check glance)
E
}

placement_conf() {
  cat <<E
[DEFAULT]
log_file = $STATE/log/placement.log
[api]
auth_strategy = keystone
[placement_database]
connection = $(database_url placement)
$(token_check placement)
E
}

neutron_conf() {
  cat <<E
[DEFAULT]
log_file = $STATE/log/neutron-server.log
state_path = $STATE/neutron
bind_host = $IP
bind_port = $NEUTRON_PORT
api_paste_config = $STATE/conf/neutron/api-paste.ini
auth_strategy = keystone
core_plugin = ml2
service_plugins = router,trunk
api_workers = $API_WORKERS
rpc_workers = 1
rpc_state_report_workers = 0
dhcp_agent_notification = false
notify_nova_on_port_status_changes = true
notify_nova_on_port_data_changes = true
transport_url = $TRANSPORT
[database]
$(database neutron)
[oslo_concurrency]
lock_path = $STATE/lock
[quotas]
quota_network = -1
quota_subnet = -1
quota_port = -1
quota_security_group = -1
quota_security_group_rule = -1
[nova]
$(login nova)
[placement]
$(login placement)
$(token_check neutron)
$(notifications)
E
}

# Drivers of the tree bind a port only where a live agent has reported, and there is none: ours binds without.
ml2_conf() {
  cat <<E
[ml2]
type_drivers = flat,vlan,vxlan,local
tenant_network_types = vxlan
mechanism_drivers = loopback
extension_drivers = port_security
[ml2_type_flat]
flat_networks = *
[ml2_type_vlan]
network_vlan_ranges = physnet1:100:999,physnet2:100:999
[ml2_type_vxlan]
vni_ranges = 1:2000
[securitygroup]
firewall_driver = noop
enable_security_group = true
E
}

nova_conf() { # nova_conf EXTRA-LINE-OF-[DEFAULT]
  cat <<E
[DEFAULT]
transport_url = $TRANSPORT
my_ip = $IP
state_path = $STATE/nova
instances_path = $STATE/nova/instances
compute_driver = loopback_virt.LoopbackDriver
vif_plugging_is_fatal = false
vif_plugging_timeout = 0
reserved_host_memory_mb = 0
enabled_apis = osapi_compute
report_interval = 3
max_concurrent_builds = 20
default_schedule_zone = ${COMPUTE_HOSTS%% *}
$1
[api]
auth_strategy = keystone
[api_database]
$(database nova_api)
[database]
$(database nova)
[oslo_concurrency]
lock_path = $STATE/lock
[notifications]
notification_format = both
notify_on_state_change = vm_and_task_state
[quota]
instances = -1
cores = -1
ram = -1
server_group_members = -1
[scheduler]
workers = 1
[conductor]
workers = 1
[filter_scheduler]
track_instance_changes = false
[glance]
api_servers = http://$IP:$GLANCE_PORT
[neutron]
service_metadata_proxy = false
$(login neutron)
[placement]
$(login placement)
[service_user]
send_service_user_token = true
$(login nova)
[vnc]
enabled = false
[wsgi]
api_paste_config = $STATE/conf/nova/api-paste.ini
$(token_check nova)
$(notifications)
E
}

rabbitmq_conf() {
  cat <<E
listeners.tcp.1 = $IP:$AMQP_PORT
log.console = false
vm_memory_high_watermark.relative = 0.2
disk_free_limit.absolute = 100MB
E
}

openrc() {
  cat <<E
export OS_AUTH_URL=$AUTH_URL OS_USERNAME=admin OS_PASSWORD=$ADMIN_PASSWORD OS_PROJECT_NAME=admin
export OS_USER_DOMAIN_NAME=Default OS_PROJECT_DOMAIN_NAME=Default OS_IDENTITY_API_VERSION=3 OS_REGION_NAME=RegionOne
E
}
