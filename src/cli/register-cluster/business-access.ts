import type { ClusterAccess } from '../../kube/access/access.ts';
import { accessOf, usualKubeconfig } from '../../session/access/cluster-access.ts';
import { WrongUsage } from '../refusal.ts';

/** Options for the business cluster, under their names and their former names. */
export interface BusinessOptions {
  readonly businessKubeconfig?: string;
  readonly businessContext?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

const example = 'for example: --business-kubeconfig biz-1.kubeconfig';

/** Reads the access to the business cluster. Throws WrongUsage for options that name no cluster or two. */
export async function businessAccess(
  provider: string,
  options: BusinessOptions,
): Promise<ClusterAccess> {
  const { businessKubeconfig, businessContext, kubeconfig, context } = options;
  const file = chosen(provider, '--business-kubeconfig', businessKubeconfig, kubeconfig);
  const name = chosen(provider, '--business-context', businessContext, context);
  if (file === undefined && name === undefined) {
    throw new WrongUsage('no business cluster: --business-kubeconfig is missing', example);
  }
  const flags = { file: '--business-kubeconfig', context: '--business-context' };
  return accessOf(file ?? usualKubeconfig(), name, flags);
}

/** Returns a value without its provider; warns about the former name, which two releases still accept. */
function chosen(
  provider: string,
  flag: string,
  value: string | undefined,
  former: string | undefined,
): string | undefined {
  const formerFlag = flag.replace('--business-', '--');
  if (former === undefined)
    return value === undefined ? undefined : ofProvider(provider, flag, value);
  if (value !== undefined) {
    throw new WrongUsage(
      `${flag} and ${formerFlag} both name the business cluster`,
      `give ${flag} only`,
    );
  }
  console.error(
    `Warning: ${formerFlag} of register-cluster has the new name ${flag}; the former name works for two more releases.`,
  );
  return former;
}

/** Accepts PROVIDER=VALUE like other commands; the `=` of a path is no separator. */
function ofProvider(provider: string, flag: string, value: string): string {
  const [prefix = '', ...rest] = value.split('=');
  if (rest.length === 0 || prefix.includes('/')) return value;
  if (prefix === provider && rest.join('=') !== '') return rest.join('=');
  throw new WrongUsage(
    `${flag} "${value}" is for provider ${prefix}, but the command registers ${provider}`,
    `give ${flag} ${provider}=…`,
  );
}
