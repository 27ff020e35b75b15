import type { Problem, Resources } from '../../model/accepted.ts';
import { parseQuantity, type Quantity } from '../../model/quantity.ts';
import { unusable } from './checked.ts';

interface ResourceFields {
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
}

const leastMemory = { nano: 128n * 1024n * 1024n * 1_000_000_000n, text: '128Mi' };

/** Reads optional cpu and memory of a container. */
export function readResources(
  { cpu, memory }: ResourceFields,
  field: string,
): { readonly value: Resources; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const quantity = (name: string, text: string | undefined, example: string, least?: Quantity) => {
    if (text === undefined) return undefined;
    const found = readQuantity(`${field}.${name}`, text, example, least);
    if ('message' in found) problems.push(found);
    return 'message' in found ? undefined : found.text;
  };
  const asCpu = quantity('cpu', cpu, '200m');
  const asMemory = quantity('memory', memory, '256Mi', leastMemory);
  return {
    value: {
      ...(asCpu === undefined ? {} : { cpu: asCpu }),
      ...(asMemory === undefined ? {} : { memory: asMemory }),
    },
    problems,
  };
}

/** Reads a quantity above zero and not below `least`. */
export function readQuantity(
  field: string,
  text: string,
  example: string,
  least?: Quantity,
): Quantity | Problem {
  const quantity = parseQuantity(text);
  if (!quantity)
    return unusable(field, text, `is not a quantity; set it to one such as ${example}`);
  if (quantity.nano <= 0n) {
    return unusable(field, text, `is not above 0; set it to a quantity such as ${example}`);
  }
  if (least && quantity.nano < least.nano) {
    return unusable(field, text, `is too small; set it to at least ${least.text}`);
  }
  return quantity;
}
