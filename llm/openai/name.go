package openai

// Name is the provider and the model, as people name them. It tells runs of two
// models apart, and holds no key.
func (c *Client) Name() string { return c.cfg.Provider + " " + c.cfg.Model }
