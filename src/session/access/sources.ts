import { shellWord } from '../../explain/commands.ts';
import type { FactSource, RequiredSource } from '../../explain/fact.ts';
import { usualKubeconfig } from './cluster-access.ts';
import { type ClusterChoice, flagsOf } from './kubectl.ts';
import type { AccessOptions } from './options.ts';

/** Error in an earlier source, such as the management API before the operator's API. */
export class SourceError extends Error {
  readonly required: RequiredSource;
  constructor(required: RequiredSource, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'SourceError';
    this.required = required;
  }
}

/** Returns the business clusters with access options. */
export function chosenProviders({ businessContext, businessKubeconfig }: AccessOptions): string[] {
  return [...new Set([...businessContext.keys(), ...(businessKubeconfig?.keys() ?? [])])];
}

/** Options with access to clusters. */
export type AccessChoice = Pick<
  AccessOptions,
  'kubeconfig' | 'context' | 'businessContext' | 'businessKubeconfig'
>;

/** Returns the access to a cluster; undefined: a business cluster without access options. */
export function choiceOf(
  { kubeconfig, context, businessContext, businessKubeconfig }: AccessChoice,
  provider: string | undefined,
): ClusterChoice | undefined {
  if (provider === undefined) return { kubeconfig, context };
  const own = businessKubeconfig?.get(provider);
  const chosen = businessContext.get(provider);
  if (own === undefined && chosen === undefined) return undefined;
  return { kubeconfig: own ?? kubeconfig, context: chosen };
}

/** Returns kubectl's flags for a cluster, such as "--context prod"; undefined: the management cluster. */
export function flagsTo(options: AccessOptions, provider: string | undefined): string {
  const choice = choiceOf(options, provider);
  return choice ? flagText(choice) : '--context CONTEXT';
}

export function flagText(choice: ClusterChoice): string {
  return flagsOf(choice).map(shellWord).join(' ');
}

/** Returns "context prod", or the kubeconfig's path. */
function placeOf({ kubeconfig, context }: ClusterChoice): string {
  return context === undefined ? kubeconfigOf(kubeconfig) : `context ${context}`;
}

/** Returns the kubeconfig's path; KUBECONFIG may hold a list. */
export function kubeconfigOf(kubeconfig: string | undefined): string {
  return kubeconfig ?? usualKubeconfig();
}

/** A query may hold a secret. */
function originOf({ inventory }: AccessOptions): string | undefined {
  return inventory === undefined ? undefined : new URL(inventory).origin;
}

/** Returns the required source; undefined: a business cluster without access options. */
export function requiredSource(
  options: AccessOptions,
  {
    source,
    provider,
    operatorPlace,
  }: {
    readonly source: FactSource;
    readonly provider: string | undefined;
    readonly operatorPlace: string;
  },
): RequiredSource | undefined {
  if (source === 'operator') return { source, place: originOf(options) ?? operatorPlace };
  const choice = choiceOf(options, provider);
  return choice && { source, place: placeOf(choice) };
}
