// Command coredns is CoreDNS with nothing but the plugins that cluster DNS needs.
package main

import (
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
)

func init() {
	// The order in which a request passes them, as in CoreDNS's own plugin.cfg.
	dnsserver.Directives = []string{
		"reload", "health", "ready", "errors", "log", "cache", "hosts", "kubernetes", "loop", "forward",
	}
}

func main() {
	coremain.Run()
}
