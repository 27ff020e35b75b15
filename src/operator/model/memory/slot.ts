/**
 * A value that a room keeps for each owner, such as an OpenstackConfig's memory. Owners know nothing about their
 * slots, so a room adds a value without a change to the memory; the value ends with its owner.
 */
export class Slot<Owner extends WeakKey, Value> {
  readonly #values = new WeakMap<Owner, { value: Value }>();
  readonly #initial: (owner: Owner) => Value;

  constructor(initial: (owner: Owner) => Value) {
    this.#initial = initial;
  }

  /** Returns the owner's value; the first call creates the initial value. */
  of(owner: Owner): Value {
    const present = this.#values.get(owner);
    if (present) return present.value;
    const value = this.#initial(owner);
    this.#values.set(owner, { value });
    return value;
  }

  set(owner: Owner, value: Value): void {
    this.#values.set(owner, { value });
  }
}
