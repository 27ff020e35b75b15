import { shellWord } from '../../explain/commands.ts';
import type { FactSource, RequiredSource } from '../../explain/fact.ts';
import { usualKubeconfig } from '../cluster-access.ts';
import type { AccessOptions } from '../options.ts';
import { type ClusterChoice, flagsOf } from './kubectl.ts';

/** Error of a source that a command needs to find another one, such as the management API before the operator's API. */
export class SourceError extends Error {
  readonly required: RequiredSource;
  constructor(required: RequiredSource, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'SourceError';
    this.required = required;
  }
}

/** Returns the business clusters that the user named. */
export function chosenProviders({ businessContext, businessKubeconfig }: AccessOptions): string[] {
  return [...new Set([...businessContext.keys(), ...(businessKubeconfig?.keys() ?? [])])];
}

/** Returns the kubectl flags of a cluster; undefined: the user did not name this business cluster. */
export function choiceOf(
  { kubeconfig, context, businessContext, businessKubeconfig }: AccessOptions,
  provider: string | undefined,
): ClusterChoice | undefined {
  if (provider === undefined) return { kubeconfig, context };
  const own = businessKubeconfig?.get(provider);
  const chosen = businessContext.get(provider);
  if (own === undefined && chosen === undefined) return undefined;
  return { kubeconfig: own ?? kubeconfig, context: chosen };
}

/** Returns the flags of kubectl for a business cluster, such as "--context prod". */
export function flagsTo(options: AccessOptions, provider: string): string {
  const choice = choiceOf(options, provider);
  return choice ? flagsOf(choice).map(shellWord).join(' ') : '--context CONTEXT';
}

/** Returns "context prod", or the path of the kubeconfig. */
export function placeOf({ kubeconfig, context }: ClusterChoice): string {
  return context === undefined ? kubeconfigOf(kubeconfig) : `context ${context}`;
}

/** Returns the path of the kubeconfig as the user wrote the path; a list keeps its separator. */
export function kubeconfigOf(kubeconfig: string | undefined): string {
  return kubeconfig ?? usualKubeconfig();
}

/** Returns the source that had to answer; undefined: a business cluster that the user did not name. */
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
  if (source === 'operator') return { source, place: options.inventory ?? operatorPlace };
  const choice = choiceOf(options, provider);
  return choice && { source, place: placeOf(choice) };
}
