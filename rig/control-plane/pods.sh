# shellcheck shell=bash
# Sourced: what Pods with an address of their own want of control plane $name, beside nodes: cluster DNS, a StorageClass, and the
# way to the clusters of other control planes. Nodes bring the rest (nodes/seed): the CNI plugin ptp and kube-proxy.

# In the network namespace of the instance, where names of Services lead as everywhere; nothing is asked outside.
launch_coredns() {
  cat >"$D/Corefile" <<COREFILE
.:53 {
  errors
  ready 127.0.0.1:8181
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig $D/coredns.kubeconfig
  }
  template ANY ANY . {
    rcode NXDOMAIN
  }
}
COREFILE
  launch coredns -conf "$D/Corefile"
}

coredns_answers() {
  ended "$D/coredns.pid" || nsenter "--net=/run/netns/$netns" curl -sf -m 5 -o /dev/null http://127.0.0.1:8181/ready
}

# Once per instance.
make_cluster_objects() {
  [[ ! -e $D/cluster-objects ]] || return 0
  "$(binary kubectl)" --kubeconfig="$D/admin.kubeconfig" create --validate=false -f - >"$D/cluster-objects.part" <<YAML
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: system:coredns}
rules:
  - {apiGroups: [''], resources: [services, namespaces], verbs: [list, watch]}
  - {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: system:coredns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:coredns}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: system:coredns}]
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system, labels: {k8s-app: kube-dns}}
spec:
  clusterIP: 10.96.0.10
  ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53, protocol: TCP}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: kube-dns, namespace: kube-system, labels: {kubernetes.io/service-name: kube-dns}}
addressType: IPv4
endpoints: [{addresses: [$host]}]
ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53, protocol: TCP}]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}
provisioner: kubernetes.io/no-provisioner
YAML
  mv "$D/cluster-objects.part" "$D/cluster-objects"
}

start_for_pods() {
  make_cluster_objects
  launch_coredns
  if ! wait_until 30 coredns_answers || ended "$D/coredns.pid"; then
    tail -n 5 "$D/coredns.log" >&2
    die "coredns of $name did not become ready, see $D/coredns.log"
  fi
}

# link A B: a cable between two instances, over which each reaches API server and nodes of the other.
link() {
  local one other
  load_linkable "$1"
  one="$netns $index"
  load_linkable "$2"
  other="$netns $index"
  [[ $one != "$other" ]] || bad_usage "link wants two instances"
  # shellcheck disable=SC2086 # two words
  make_link $one $other
}

load_linkable() {
  load_instance "$1"
  [[ -n $netns ]] || die "control plane $name listens on 127.0.0.1 and has no network to link"
}

# make_link NETNS INDEX NETNS INDEX: neither end needs an address, as each side answers for its own 198.18.N.1.
make_link() {
  ! ip -n "$1" link show "to-cp$4" &>/dev/null || return 0
  ip -n "$1" link add "to-cp$4" type veth peer name "to-cp$2" netns "$3"
  link_end "$1" "$4"
  link_end "$3" "$2"
}

link_end() {
  ip -n "$1" link set "to-cp$2" up
  ip -n "$1" route replace "198.18.$2.0/24" via "198.18.$2.1" dev "to-cp$2" onlink
}

# A mount namespace elsewhere may keep a deleted network namespace, and with it the other end, alive.
remove_links() {
  local end
  for end in $(ip -n "$netns" -o link show type veth 2>/dev/null | grep -oE ' to-cp[0-9]+' || true); do
    ip -n "$netns" link del "$end" 2>/dev/null || true
  done
}
