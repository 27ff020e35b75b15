import { type Claim, keyOfAction, type RightsTable } from '../kube/rights.ts';
import { type MissingRight, missingRights } from './missing-right.ts';
import { type RightsRequest, reviewAll, type Silence } from './review.ts';

/** Changes found by a check. */
export interface RightsChange {
  readonly lost: readonly MissingRight[];
  readonly gained: readonly MissingRight[];
  readonly silence?: Silence;
}

/** Known rights for one identity; rights with a failed check keep their last state. */
export class RightsState {
  readonly #table: RightsTable;
  readonly #claims: readonly Claim[];
  readonly #allowed = new Map<string, boolean>();

  constructor(table: RightsTable, claims: readonly Claim[]) {
    this.#table = table;
    this.#claims = claims;
  }

  /** Checks all rights. */
  async look(options: RightsRequest): Promise<RightsChange> {
    const actions = this.#claims.map(({ action }) => action);
    const { allowed, silence } = await reviewAll(actions, options);
    const before = this.#denied();
    for (const [key, answer] of allowed) this.#allowed.set(key, answer);
    const now = this.#denied();
    return {
      lost: this.#described(now.filter((claim) => !before.includes(claim))),
      gained: this.#described(before.filter((claim) => !now.includes(claim))),
      ...(silence && { silence }),
    };
  }

  /** undefined until the API server has answered. */
  get missing(): readonly MissingRight[] | undefined {
    return this.#allowed.size === 0 ? undefined : this.#described(this.#denied());
  }

  #denied(): Claim[] {
    return this.#claims.filter(({ action }) => this.#allowed.get(keyOfAction(action)) === false);
  }

  #described(claims: readonly Claim[]): readonly MissingRight[] {
    return missingRights(claims, this.#table);
  }
}
