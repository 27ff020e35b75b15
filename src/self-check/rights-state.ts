import { type Claim, keyOfAction, type RightsTable } from '../kube/rights.ts';
import { type MissingRight, missingRights } from './missing-right.ts';
import { type RightsRequest, reviewAll, type Silence } from './review.ts';

/** What changed with a look. */
export interface RightsChange {
  readonly lost: readonly MissingRight[];
  readonly gained: readonly MissingRight[];
  readonly silence?: Silence;
}

/** What is known of the rights of one identity: what cannot be found out now is as it was. */
export class RightsState {
  readonly #table: RightsTable;
  readonly #claims: readonly Claim[];
  readonly #allowed = new Map<string, boolean>();

  constructor(table: RightsTable, claims: readonly Claim[]) {
    this.#table = table;
    this.#claims = claims;
  }

  /** Asks for all of them. */
  async look(options: RightsRequest): Promise<RightsChange> {
    const actions = this.#claims.map(({ action }) => action);
    const { allowed, silence } = await reviewAll(actions, options);
    const before = this.#without();
    for (const [key, answer] of allowed) this.#allowed.set(key, answer);
    const now = this.#without();
    return {
      lost: this.#said(now.filter((claim) => !before.includes(claim))),
      gained: this.#said(before.filter((claim) => !now.includes(claim))),
      ...(silence && { silence }),
    };
  }

  /** Undefined until the server has said something. */
  get missing(): readonly MissingRight[] | undefined {
    return this.#allowed.size === 0 ? undefined : this.#said(this.#without());
  }

  #without(): Claim[] {
    return this.#claims.filter(({ action }) => this.#allowed.get(keyOfAction(action)) === false);
  }

  #said(claims: readonly Claim[]): readonly MissingRight[] {
    return missingRights(claims, this.#table);
  }
}
