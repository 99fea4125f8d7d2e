// records-service tenants: what there is, and the making of one more.
import type { Command } from "./command.js";

export const tenants: Command = {
  name: "tenants",
  parameters: [],
  summary: "List the tenants, or make one with --create",
  options: {
    create: { type: "string", value: "SLUG", description: "Make a tenant with this slug" },
    name: { type: "string", value: "NAME", description: "Its name; without it the slug" },
  },
  async run({ values, terminal, service }) {
    const { tenants: all } = await service();
    const slug = values["create"];
    if (typeof slug === "string") {
      const made = await all.create({ slug, ...(typeof values["name"] === "string" ? { name: values["name"] } : {}) });
      terminal.result(made, `${made.slug} is made, with the id ${made.id}`);
      return;
    }
    const found = await all.list();
    terminal.result({ items: found }, found.length === 0 ? "There is no tenant yet." : found.map((tenant) => [tenant.slug, tenant.id, tenant.createdAt, tenant.name].join("  ")).join("\n"));
  },
};
