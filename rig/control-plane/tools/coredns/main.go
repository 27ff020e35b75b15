// Command coredns is CoreDNS with nothing but the plugins that cluster DNS needs here.
package main

import (
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
)

func init() {
	// The order in which a query passes them: for a name that is not of the cluster a template says that it does not exist.
	dnsserver.Directives = []string{"ready", "errors", "kubernetes", "template"}
}

func main() {
	coremain.Run()
}
