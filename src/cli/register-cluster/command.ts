import { isIP } from 'node:net';
import { Command, Option } from 'commander';
import { namespaces } from '../../api/names.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import type { ClusterAccess } from '../../kube/access/access.ts';
import { parseDuration } from '../../process/duration.ts';
import {
  accessOf,
  connect,
  usualKubeconfig,
  usualKubeconfigText,
} from '../../session/access/cluster-access.ts';
import { confirmed } from '../confirmed.ts';
import { languageOption, outputOption } from '../options.ts';
import { Refusal } from '../refusal.ts';
import { type BusinessOptions, businessAccess } from './business-access.ts';
import { namedClient } from './named-client.ts';
import { checkBusiness, checkManagement, checkReach, checkRegistration } from './preconditions.ts';
import { type Clusters, register, rehearse } from './register.ts';
import { type Registration, registeredAccess } from './registration.ts';
import { planText, type ScreenOptions, screenOf } from './screen.ts';

interface Options extends ScreenOptions, BusinessOptions {
  readonly managementKubeconfig: string;
  readonly managementContext?: string;
  readonly namespace: string;
  readonly registrationsNamespace: string;
  readonly serviceAccount: string;
  readonly server?: string;
  readonly replace: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** `multinic register-cluster`: gives Viola write access to a business cluster. */
export function registerClusterCommand(): Command {
  return new Command('register-cluster')
    .description(
      'registers a business cluster with Viola: creates a ServiceAccount for Viola there, and a Secret in the management cluster that Viola reads; prints the plan first',
    )
    .argument('<provider>', 'id by which OpenstackConfigs name the cluster (k8sProviderID)')
    .option(
      '--business-kubeconfig <[provider=]path>',
      'kubeconfig of an administrator of the business cluster',
    )
    .option(
      '--business-context <[provider=]name>',
      'context in --business-kubeconfig; default: its current-context',
    )
    .option('--kubeconfig <path>', 'former name of --business-kubeconfig, for two more releases')
    .option('--context <name>', 'former name of --business-context, for two more releases')
    .addOption(
      new Option(
        '--management-kubeconfig <path>',
        'kubeconfig of an administrator of the management cluster',
      ).default(usualKubeconfig(), usualKubeconfigText),
    )
    .option(
      '--management-context <name>',
      'context in --management-kubeconfig; default: its current-context',
    )
    .option('-n, --namespace <name>', 'namespace of the MultiNicNodeConfigs', namespaces.system)
    .option(
      '--registrations-namespace <name>',
      'namespace of the registration Secrets in the management cluster',
      namespaces.registrations,
    )
    .option('--service-account <name>', 'ServiceAccount of Viola in the business cluster', 'viola')
    .option(
      '--server <url>',
      'URL at which Viola reaches the API server of the business cluster; default: server of --business-kubeconfig',
    )
    .option(
      '--token-lifetime <duration>',
      'lifetime of the token; Viola renews it after half of this time',
      '2160h',
    )
    .option(
      '--replace',
      'replace the registration of a provider that is registered for another server',
      false,
    )
    .option(
      '--dry-run',
      'print the plan, validate it on both API servers, and change nothing',
      false,
    )
    .option('--yes', 'do not ask for confirmation', false)
    .addOption(outputOption(['table', 'json', 'yaml']))
    .addOption(languageOption())
    .action(registerCluster);
}

async function registerCluster(provider: string, options: Options): Promise<void> {
  const tokenSeconds = lifetimeOf(options.tokenLifetime);
  const access = await accessesOf(provider, options);
  await using openBusiness = connect(access.business);
  await using openManagement = connect(access.management);
  const servers = { business: access.business.server, management: access.management.server };
  const business = namedClient(openBusiness, { name: 'business', server: servers.business });
  const management = namedClient(openManagement, {
    name: 'management',
    server: servers.management,
  });
  const registration = registrationOf(provider, options, access.business);
  const clusters: Clusters = { business, management };

  checkRegistration(registration);
  await checkBusiness(business, registration);
  await checkManagement(management, registration, options.replace);
  await checkReach(management, registration);
  const screen = screenOf(options);
  screen.plan(planText(registration, servers, options));
  await rehearse(clusters, registration);
  if (options.dryRun) {
    screen.result(registration, undefined);
    return;
  }
  if (!options.yes) await confirmed(screensTexts.mayRegister[options.lang]);
  const registered = await register(clusters, registration, {
    tokenSeconds,
    connect: (token) => connect(registeredAccess(registration, token)),
  });
  screen.result(registration, registered);
}

async function accessesOf(provider: string, options: Options) {
  const { managementKubeconfig, managementContext } = options;
  const management = { file: '--management-kubeconfig', context: '--management-context' };
  return {
    business: await businessAccess(provider, options),
    management: await accessOf(managementKubeconfig, managementContext, management),
  };
}

/** Limits: kube-apiserver's shortest TokenRequest lifetime, and ten years. */
const tokenSecondsWithin = { min: 600, max: 315_360_000 };

function lifetimeOf(text: string): number {
  const seconds = Math.floor((parseDuration(text) ?? Number.NaN) / 1000);
  const { min, max } = tokenSecondsWithin;
  if (seconds >= min && seconds <= max) return seconds;
  const why = `--token-lifetime "${text}" must be a duration between 10m and 87600h`;
  throw new Refusal(why, 'give for example --token-lifetime 2160h');
}

/** Returns the registration for these options; throws if the server is not a URL. */
export function registrationOf(
  provider: string,
  options: Pick<Options, 'namespace' | 'serviceAccount' | 'registrationsNamespace' | 'server'>,
  access: ClusterAccess,
): Registration {
  const { namespace, serviceAccount, registrationsNamespace, server = access.server } = options;
  if (!URL.canParse(server))
    throw new Refusal(
      `--server "${server}" is not a URL`,
      'give for example --server https://10.0.0.1:6443',
    );
  // The certificate may not cover another address: then the kubeconfig's host name is verified.
  const tlsServerName =
    access.tlsServerName ?? (options.server === undefined ? undefined : nameOf(access.server));
  return {
    provider,
    namespace,
    serviceAccount,
    registrationsNamespace,
    server,
    ca: access.ca,
    tlsServerName,
  };
}

/** Returns the server's host if it is a name; TLS SNI allows no addresses (RFC 6066, section 3). */
function nameOf(server: string): string | undefined {
  const { hostname } = new URL(server);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : undefined;
}
