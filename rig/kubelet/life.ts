/** Whether the kubelet's own process is there. Containers need it for nothing but to begin, to be stopped and to be told of. */
export class Life {
  #back = Promise.withResolvers<void>();
  #alive = true;

  constructor() {
    this.#back.resolve();
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Resolves at once while it is alive, else when it is started again. */
  get up(): Promise<void> {
    return this.#back.promise;
  }

  end(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#back = Promise.withResolvers();
  }

  startAgain(): void {
    this.#alive = true;
    this.#back.resolve();
  }
}
